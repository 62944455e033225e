-- Whether what people read by SQL holds a projection.
select exists(
    select
    from pg_depend as d
    inner join pg_rewrite as w on d.objid = w.oid
    where
        d.classid = 'pg_rewrite'::regclass
        and d.refclassid = 'pg_class'::regclass
        and w.ev_class = to_regclass('chronofact.memory_current')
        and d.refobjid = to_regclass(%(view)s)
)
