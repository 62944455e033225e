-- What values share that are one by the rule of the projection: by rule 1 their hash, by rule 2 also that of their NFC.
-- It is Unicode 14.0's: with a character that composes or is ordered since later versions only, a value is compared by
-- its bytes (docs/rules.md).
create function {schema}.value_key(value_json json, value_hash bytea) returns bytea
language sql stable parallel safe
return case
    when {rule} = 1 or octet_length(value_json::text) = char_length(value_json::text) then value_hash
    when value_json::text is nfc normalized or value_json::text ~ (
        E'[\u05c8-\u05c9\u0897\u0b53-\u0b54\u0cf3\u0ece\u1acf-\u1af0\U000105c9-\U000105e4'
        || E'\U00010d69-\U00010d6d\U00010ecb-\U00010eff\U00011241\U00011383-\U000113e2\U00011b60-\U00011b67'
        || E'\U00011df0\U00011f00-\U00011f03\U00011f34-\U00011f5a\U00013440-\U00013455\U0001611e-\U0001612f'
        || E'\U00016d67-\U00016d6a\U0001d127-\U0001d128\U0001d250-\U0001d281\U0001e08f\U0001e4ec-\U0001e4ef'
        || E'\U0001e5ee-\U0001e5ef\U0001e6e3-\U0001e6f5]'
    ) then value_hash
    else sha256(convert_to(normalize(value_json::text, nfc), 'UTF8'))
end;
