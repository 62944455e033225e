-- No instant has two answers: the database itself says so.
alter table chronofact.{leaf}
add constraint {constraint}
exclude using gist (fact_no with =, lane with =, valid_during with &&)
