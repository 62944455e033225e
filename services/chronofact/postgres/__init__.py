"""The one place that speaks to Postgres: pool, migrations, statements, COPY, and what its errors mean."""
