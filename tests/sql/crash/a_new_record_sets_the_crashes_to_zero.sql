-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session(lease => '1 day') as keeper \gset
select t.run() as r \gset
create function pg_temp.crash() returns void language plpgsql as $$
begin
    perform pawl.claim(t.session(lease => '1 s'), quiet => true);
    perform t.later('2 s');
end $$;
select pg_temp.crash() \g /dev/null
select is((select crashes from pawl_data.task), 1::smallint, 'a crash');
select fence as f from t.one(:keeper) \gset
select is(t.answer(:keeper, :'r', :f, 'step', 'a#1', '1', null, 1), 'ok', 'a step');
select is((select crashes from pawl_data.task), 0::smallint, 'sets it to zero');
select is(t.answer(:keeper, :'r', :f, 'release'), 'ok', 'given back');
select pg_temp.crash() from generate_series(1, 2) \g /dev/null
select fence as f from t.one(:keeper, quiet => true) \gset
select is((select answer from pawl.sleep(:keeper, :'r', :f, 'nap', '1 s')), 'ok', 'a sleep');
select is((select crashes from pawl_data.task), 0::smallint, 'as well');

select * from finish();
