-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select session as old from pawl.register('old', '{*}', version => '7') \gset
select session as new from pawl.register('new', '{*}', version => '8') \gset
select run_id as r, fence as f from t.held(:old) \gset
select is(t.answer(:old, :'r', :f, 'fail', null, '{"code": "no"}', '{"retry_after_ms": 0}'), 'ok', 'it is to be executed again');
select t.later('5 s', :new);
-- Nothing can be written about this run.
create function pg_temp.refuse() returns trigger language plpgsql as $$ begin raise 'no audit'; end $$;
create trigger refuse before insert on pawl_data.audit for each row execute function pg_temp.refuse();
select lives_ok(format('select * from t.one(%s)', :new), 'it is claimed all the same');
select matches((select last_error from pawl_data.chore where chore = 'claims'), 'no audit', 'and the failure is noted');
select * from finish();
