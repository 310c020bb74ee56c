-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create temporary table hostile (x text);
insert into hostile values (''), (' '), (''''), (''''''), ('"'), ('"; drop schema pawl cascade; --'), ('''; drop schema pawl cascade; --'), ('\'), ('\''; select 1; --'), ('%'), ('%s%L%I'), ('_'), ('$$'), ('$pawl$'),
    (e'a\nb'), (e'\t'), (e'\u0001'), (e'\u200b'), (e'\u202e'), ('é'), ('日本語'), ('😀'), ('../../etc/passwd'), ('null'), ('NULL'), ('{}'), ('[]'), ('-1'), ('0'), ('1e999'), ('true'), ('a b'), ('a/b'), ('a#1'),
    ('a:b'), ('rollback:a'), ('#1'), ('/'), ('*'), ('.*'), ('..'), ('pg_catalog.now()'), ('pawl_data.task'), (repeat('x', 1000)), (repeat('x', 100000)), (repeat('(', 5000)), ('Robert''); drop table pawl_data.run; --');
create temporary table call (verb text, sql text);
insert into call values
    ('create_workflow name', 'select pawl.create_workflow($1)'), ('create_workflow runtime', 'select pawl.create_workflow(''h.r'' || md5($1), runtime => $1)'),
    ('create_workflow input_schema', 'select pawl.create_workflow(''h.s'' || md5($1), input_schema => json_build_object($1, $1))'), ('get_workflow', 'select pawl.get_workflow($1)'),
    ('create_workflow description', 'select pawl.create_workflow(''h.d'' || md5($1), description => $1)'),
    ('alter_workflow name', 'select pawl.alter_workflow($1, ''{}'')'), ('alter_workflow option', 'select pawl.alter_workflow(''test.flow'', json_build_object($1, 1))'),
    ('trigger workflow', 'select pawl.trigger($1)'), ('trigger key', 'select pawl.trigger(''test.flow'', key => $1)'), ('trigger tenant', 'select pawl.trigger(''test.flow'', tenant => $1)'),
    ('trigger tags', 'select pawl.trigger(''test.flow'', tags => array[$1])'), ('trigger limit_key', 'select pawl.trigger(''test.flow'', limit_key => $1)'), ('trigger input', 'select pawl.trigger(''test.flow'', to_json($1))'), ('trigger metadata', 'select pawl.trigger(''test.flow'', metadata => to_json($1))'),
    ('register name', 'select pawl.register($1, ''{*}'')'), ('register handles', 'select pawl.register(''w'', array[$1])'), ('register runtimes', 'select pawl.register(''w'', ''{*}'', array[$1])'),
    ('heartbeat running', 'select pawl.heartbeat(:s, json_build_array(json_build_object(''run'', $1, ''timeout_ms'', $1, ''step'', $1)))'),
    ('heartbeat running scalar', 'select pawl.heartbeat(:s, to_json($1))'),
    ('emit topic', 'select pawl.emit($1)'), ('emit key', 'select pawl.emit(''x'', key => $1)'), ('emit tenant', 'select pawl.emit(''x'', tenant => $1)'), ('emit payload', 'select pawl.emit(''x'', to_json($1))'),
    ('signal name', 'select pawl.signal(:r, $1)'), ('approve name', 'select pawl.approve(:r, $1)'), ('approve by', 'select pawl.approve(:r, ''ok'', $1, $1)'), ('reject by', 'select pawl.reject(:r, ''ok'', $1, $1)'),
    ('step name', 'select pawl.step(:s, :r, :f, $1)'), ('sleep name', 'select pawl.sleep(:s, :r, :f, $1 || ''#'', ''1 s'')'), ('commit kind', 'select pawl.commit_each(:s, array[:r], array[:f], array[$1])'),
    ('commit payload', 'select pawl.commit_each(:s, array[:r], array[:f], array[''step''], array[''p'' || md5($1) || ''#1''], array[$1])'),
    ('commit option', 'select pawl.commit_each(:s, array[:r], array[:f], array[''note''], array[$1], array[''x''], options => array[$1])'),
    ('commit option json', 'select pawl.commit_each(:s, array[:r], array[:f], array[''note''], array[$1], array[''x''], options => array[to_json($1)::text])'),
    ('commit child', 'select pawl.commit_each(:s, array[:r], array[:f], array[''child''], array[''c#1''], array[''{}''], options => array[json_build_object(''workflow'', $1, ''detached'', $1, ''priority'', $1)::text])'),
    ('record_step token', 'select pawl.record_step($1)'), ('step_token step', 'select pawl.record_step(pawl.step_token(:s, :r, :f, $1))'),
    ('cancel why', 'select pawl.cancel(array[gen_random_uuid()], $1, false, $1)'), ('pause why', 'select pawl.pause(array[:r], $1, $1)'), ('resume by', 'select pawl.resume(array[:r], $1)'), ('wake step', 'select pawl.wake(array[:r], $1, $1, $1)'),
    ('kill why', 'select pawl.kill(array[gen_random_uuid()], $1, $1)'), ('retry by', 'select pawl.retry(array[:r], $1)'), ('rollback_skip step', 'select pawl.rollback_skip(:r, $1, $1, $1)'),
    ('fork step', 'select pawl.fork(:r, $1, by => $1)'), ('purge why', 'select pawl.purge(array[gen_random_uuid()], $1, $1)'),
    ('create_schedule name', 'select pawl.create_schedule($1, ''test.flow'', every => ''1 h'')'), ('create_schedule workflow', 'select pawl.create_schedule(''h.w'', $1, every => ''1 h'')'),
    ('create_schedule cron', 'select pawl.create_schedule(''h.c'', ''test.flow'', cron => $1)'), ('create_schedule zone', 'select pawl.create_schedule(''h.z'', ''test.flow'', every => ''1 h'', zone => $1)'),
    ('create_schedule tenant', 'select pawl.create_schedule(''h.t'', ''test.flow'', every => ''1 h'', tenant => $1)'), ('create_schedule policy', 'select pawl.create_schedule(''h.p'', ''test.flow'', every => ''1 h'', catch_up => $1, overlap => $1)'),
    ('create_schedule input', 'select pawl.create_schedule(''h.i'' || md5($1), ''test.flow'', every => ''1 h'', input => json_build_object($1, $1), metadata => json_build_object($1, $1), limit_key => $1)'),
    ('pause_schedule', 'select pawl.pause_schedule($1, $1, $1, $1)'), ('resume_schedule', 'select pawl.resume_schedule($1, $1, $1, $1)'), ('delete_schedule', 'select pawl.delete_schedule($1, $1, $1)'),
    ('backfill_schedule', 'select pawl.backfill_schedule($1, pawl.now(), pawl.now(), tenant => $1, by => $1)'), ('list_schedules', 'select pawl.list_schedules($1, $1, $1)'), ('list_skips', 'select pawl.list_skips($1, $1)'),
    ('preview_schedule', 'select pawl.preview_schedule($1, $1)'), ('preview_schedule name', 'select pawl.preview_schedule(name => $1, tenant => $1)'), ('why_schedule', 'select pawl.why_schedule($1, $1)'),
    ('create_subscription name', 'select pawl.create_subscription($1, ''t'', ''test.flow'')'), ('create_subscription topic', 'select pawl.create_subscription(''h.t'' || md5($1), $1, ''test.flow'', key => $1, tenant => $1)'),
    ('create_subscription workflow', 'select pawl.create_subscription(''h.w'', ''t'', $1)'), ('create_subscription input', 'select pawl.create_subscription(''h.i'', ''t'', ''test.flow'', input => $1)'),
    ('create_subscription match', 'select pawl.create_subscription(''h.m'' || md5($1), $1, ''test.flow'', match => json_build_object(''/'' || $1, $1))'),
    ('pause_subscription', 'select pawl.pause_subscription($1, $1, $1, $1)'), ('resume_subscription', 'select pawl.resume_subscription($1, $1, $1)'), ('delete_subscription', 'select pawl.delete_subscription($1, $1, $1)'), ('list_subscriptions', 'select pawl.list_subscriptions($1, $1, $1, $1)'),
    ('create_token', 'select pawl.create_token($1, sha256(convert_to($1, ''UTF8'')), ''{reader}'', by => $1)'), ('create_token rights', 'select pawl.create_token(''r'', sha256(''r''), array[$1])'), ('create_token tenant', 'select pawl.create_token(''t'', sha256(convert_to($1, ''UTF8'')), ''{reader}'', $1)'), ('revoke_token', 'select pawl.revoke_token($1, $1, $1)'),
    ('pause_workflow', 'select pawl.pause_workflow($1, $1, $1)'), ('resume_workflow', 'select pawl.resume_workflow($1, $1)'), ('preview_bulk', 'select pawl.preview_bulk($1, json_build_object(''workflow'', $1))'), ('begin_bulk', 'select pawl.begin_bulk(''retry'', json_build_object(''workflow'', $1), 1, $1, $1)'), ('stop_bulk', 'select pawl.stop_bulk(1, $1)'), ('pause_all', 'select pawl.pause_all($1, $1)'), ('resume_all', 'select pawl.resume_all($1)'), ('pause_queue', 'select pawl.pause_queue($1, $1)'), ('resume_queue', 'select pawl.resume_queue($1)'),
    ('set_lane', 'select pawl.set_lane($1, $1, 5, 2, $1, $1, $1)'), ('set_lane key', 'select pawl.set_lane(''test.flow'', $1, 5, 2, $1, $1)'), ('pause_lane', 'select pawl.pause_lane($1, $1, $1, $1, $1)'), ('pause_lane key', 'select pawl.pause_lane(''test.flow'', $1, $1, $1)'),
    ('resume_lane', 'select pawl.resume_lane($1, $1, $1, $1)'), ('list_lanes', 'select pawl.list_lanes($1, $1, $1)'), ('list_lanes key', 'select pawl.list_lanes(''test.flow'', $1, $1)'),
    ('grant_role', 'select pawl.grant_role(left($1, 63)::name, ''reader'')'), ('grant_role rights', 'select pawl.grant_role(current_user, $1)'),
    ('revoke_role', 'select pawl.revoke_role(left($1, 63)::name, $1)'), ('list_runs', 'select pawl.list_runs($1, $1, $1, $1)'), ('list_waits tenant', 'select pawl.list_waits(only_tenant => $1)'), ('metrics', 'select pawl.metrics($1)');
create function try(call text, x text) returns text language plpgsql as $$
begin
    execute call using x;
    return 'ok';
exception when others then
    return case when sqlstate like 'PW0%' then 'ok' else sqlstate || ' ' || left(sqlerrm, 80) || ' for ' || left(x, 30) end;
end $$;
select is((select string_agg(distinct try(replace(replace(replace(c.sql, ':s', :'s'), ':r', quote_literal(:'r') || '::uuid'), ':f', :'f'), h.x), e'\n') from hostile h), 'ok', c.verb) from call c;
select lives_ok($$select t.later('1 min')$$, 'housekeeping still works');
select is((select count(*) from pawl_data.workflow where name !~ '^[a-z0-9_.-]+$'), 0::bigint, 'no name got through that should not');
select * from finish();
