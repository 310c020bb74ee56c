-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.run() as r \gset
select throws_ok(format('select pawl.signal(%L, %L)', :'r', n), 'PW003', null, format('name "%s"', left(n, 20)))
from unnest(array['', 'Go', 'a b', 'a/b', 'a#1', 'approval:x', repeat('n', 101)]) n;
select throws_ok(format('select pawl.signal(%L, null)', :'r'), 'PW003', null, 'no name');
select throws_ok(format('select pawl.signal(%L, %L, null)', :'r', 'go'), 'PW009', null, 'no payload');
select throws_ok(format('select pawl.signal(%L, %L, to_json(repeat(%L, 1048576)))', :'r', 'go', 'p'), 'PW009', null, 'a payload over a megabyte');
select is((select count(*) from generate_series(1, 1000) g where pawl.signal(:'r', 'n' || g % 10, '{}') = 'stored'), 1000::bigint, 'a thousand are kept');
select throws_ok(format('select pawl.signal(%L, %L)', :'r', 'one-more'), 'PW009', null, 'not one more');
select * from finish();
