"""What every process needs: config, logging, metrics, health, lifecycle, retry."""
