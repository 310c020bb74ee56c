-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select t.run('one.a') from generate_series(1, 1) \g /dev/null
select t.run('two.b') from generate_series(1, 20) \g /dev/null
select is((select count(*) from pawl.claim(:s, 0)), 0::bigint, 'none');
select is((select count(*) from pawl.claim(:s, -5)), 0::bigint, 'less than none');
select is((select count(*) from pawl.claim(:s, null)), 0::bigint, 'an unknown number');
select is((select count(*) from pawl.claim(:s, 10)), 10::bigint, 'ten, although one queue has only one');
select is((select count(*) from pawl.claim(:s, 2000000000)), 11::bigint, 'all that is left');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'and then nothing');

select * from finish();
