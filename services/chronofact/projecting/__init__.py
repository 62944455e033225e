"""Messages of the log to lines of a projection: read, fold, park, release, drop; live and in a rebuild alike."""
