-- SPDX-License-Identifier: Apache-2.0
select plan(1);

select t.session() as s \gset
select t.run('busy.flow') from generate_series(1, 200) \g /dev/null
select t.run('rare.flow') as r \gset
select is((select count(*) from pawl.claim(:s, 10) where workflow = 'rare.flow'), 1::bigint, 'the rare one is not kept waiting by two hundred others');

select * from finish();
