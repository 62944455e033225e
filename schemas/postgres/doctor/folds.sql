-- Every projection that may answer or is fed: its rule, and the fold that filled it.
select
    p.name,
    p.rule,
    p.fingerprint
from chronofact.projection as p
where p.state in ('catching_up', 'verifying', 'ready', 'live')
order by p.name
