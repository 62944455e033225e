"""The `chronofact` command."""
