"""What a fact means: functions over frozen values, standard library only."""
