-- Covers inside one circle cancel.
delete from cover as c
using circle as back
where c.cell = back.cell and c.m = back.a and c.n = back.b
