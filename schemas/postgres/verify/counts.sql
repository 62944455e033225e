-- Verifications by what came of them.
select
    case
        when v.identical then 'identical'
        when v.state = 'finished' then 'different'
        else v.state
    end as outcome,
    count(*) as verifications
from chronofact.verification as v
group by outcome
