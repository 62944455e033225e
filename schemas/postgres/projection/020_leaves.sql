-- One leaf a Kafka partition, so that a rebuild can fill and attach them apart.
do $$
declare
    whole text;
begin
    foreach whole in array array['event', 'version', 'timeline'] loop
        for leaf in 0 .. {partitions} - 1 loop
            execute format(
                'create table {schema}.%I partition of {schema}.%I for values from (%s) to (%s)',
                whole || '_p' || lpad(leaf::text, greatest(2, length(leaf::text)), '0'), whole, leaf::bigint << 40, (leaf + 1)::bigint << 40
            );
        end loop;
    end loop;
end;
$$;
