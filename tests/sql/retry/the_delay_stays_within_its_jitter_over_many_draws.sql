-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select is((select count(*) from (select date_part('epoch', pawl._backoff(n, '1 s', 2, '10 min', 0.2)) d, least(600, 2 ^ (n - 1)) as plain
    from generate_series(1, 20) n, generate_series(1, 200)) x where d < plain * 0.8 - 1e-6 or d > plain * 1.2 + 1e-6), 0::bigint, 'never outside of it');
select ok((select min(d) < 0.85 and max(d) > 1.15 and avg(d) between 0.98 and 1.02 from (select date_part('epoch', pawl._backoff(1, '1 s', 2, '10 min', 0.2)) d
    from generate_series(1, 4000)) x), 'all over it, around the middle');
select is((select max(date_part('epoch', pawl._backoff(n, '1 s', 1000, '10 min', 0))) from unnest('{100,1000000,2147483647}'::int[]) n), 600::float8, 'huge numbers of failures end at the cap');
select is(pawl._backoff(3, '0', 2, '10 min', 0) < interval '1 ms', true, 'a base of nothing');
select is(pawl._backoff(3, '1 s', 2, '0', 0.5), interval '0', 'a cap of nothing');

select * from finish();
