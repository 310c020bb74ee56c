-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select pawl.create_workflow('w') \g /dev/null
select throws_ok(format('select pawl.create_schedule(%L, %L, cron => %L)', 's', 'w', x), 'PW003', null, coalesce('cron ' || x, 'no calendar'))
from unnest(array[null, '', '* * * *', '* * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * 32 * *', '* * * 13 *', '* * * * 8', '5-1 * * * *', '*/0 * * * *', '1,,2 * * * *', ', * * * *', '* * * foo *', '* * ? * *', '* * 15W * *', '* * * * 5#2',
    'a * * * *', '-1 * * * *', '1- * * * *', '*/100 * * * *', '999 * * * *', '@reboot', '@every 1h', '0 0 31 2 *', '0 0 30 feb *', repeat('1,', 600) || '1 * * * *']) x;
select throws_ok(format('select pawl.create_schedule(%L, %L, every => %L)', 's', 'w', x), 'PW003', null, 'every ' || x)
from unnest(array['0', '-1 s', '0.5 s', '1.5 s', '1 month', '1 year', '2000 days', '1 mon -29 days']) x;
select throws_ok(format('select pawl.create_schedule(%L, %L, cron => %L, zone => %L)', 's', 'w', '0 0 * * *', x), 'PW003', null, 'zone ' || coalesce(x, 'null'))
from unnest(array['', 'CET', 'EST', 'EST5EDT', 'Europe/Nowhere', 'europe/berlin', '+02', 'UTC+2', 'right/Europe/Berlin', 'posix/Europe/Berlin', 'Europe/Berlin; drop', 'foo', null]) x;
select throws_ok(format('select pawl.create_schedule(%s)', x), 'PW003', null, x)
from unnest(array['''S'', ''w'', every => ''1 h''', '''a b'', ''w'', every => ''1 h''', '''a/b'', ''w'', every => ''1 h''', 'null, ''w'', every => ''1 h''', 'repeat(''x'', 201), ''w'', every => ''1 h''',
    '''s'', ''w'', every => ''1 h'', cron => ''0 0 * * *''', '''s'', ''w'', every => ''1 h'', at => now()', '''s'', ''w'', every => ''1 h'', catch_up => ''some''', '''s'', ''w'', every => ''1 h'', catch_up => null',
    '''s'', ''w'', every => ''1 h'', overlap => ''maybe''', '''s'', ''w'', every => ''1 h'', jitter => ''-1 s''', '''s'', ''w'', every => ''1 h'', jitter => ''25 h''', '''s'', ''w'', every => ''1 h'', jitter => null',
    '''s'', ''w'', every => ''1 h'', catch_up_within => ''-1 s''', '''s'', ''w'', every => ''1 h'', input => ''[]''', '''s'', ''w'', every => ''1 h'', input => ''{"scheduled": 1}''', '''s'', ''w'', every => ''1 h'', metadata => ''1''',
    '''s'', ''w'', every => ''1 h'', priority => -1', '''s'', ''w'', at => ''infinity''', '''s'', ''w'', every => ''1 h'', starts_at => ''2030-01-02'', ends_at => ''2030-01-01''', '''s'', ''w'', every => ''1 h'', ends_at => ''infinity''']) x;
select throws_ok($$select pawl.create_schedule('s', 'nothing', every => '1 h')$$, 'PW002', null, 'an unknown workflow');
select throws_ok($$select pawl.create_schedule('s', 'w', every => '1 h', input => json_build_object('x', repeat('x', 1048576)))$$, 'PW009', null, 'a large input');
select throws_ok($$select * from pawl.preview_schedule()$$, 'PW003', null, 'a preview of nothing');
select throws_ok($$select * from pawl.preview_schedule('0 0 31 2 *')$$, 'PW003', null, 'a preview of never');
select throws_ok($$select * from pawl.preview_schedule('* * * * *', since => 'infinity')$$, 'PW003', null, 'a preview since infinity');
select throws_ok(format('select pawl.%s', x), 'PW001', null, x) from unnest(array['pause_schedule(''s'')', 'resume_schedule(''s'')', 'delete_schedule(''s'')', 'why_schedule(''s'')', 'list_skips(''s'')', 'preview_schedule(name => ''s'')',
    'backfill_schedule(''s'', pawl.now(), pawl.now())']) x;
select is((select count(*) from pawl_data.schedule), 0::bigint, 'nothing was created');
-- All that is valid.
select is(pawl.create_schedule('a.b-c_1', 'w', cron => '*/5,7 0-5/2,12 1,15,L jan-mar,DEC Mon-Fri', zone => 'America/Argentina/Buenos_Aires'), 'created', 'lists, ranges, steps, names');
select is(pawl.create_schedule('a.b-c_1', 'w', cron => '*/5,7 0-5/2,12 1,15,L jan-mar,DEC Mon-Fri', zone => 'America/Argentina/Buenos_Aires'), 'exists', 'a second time');
select is(pawl.create_schedule('a.b-c_1', 'w', every => '1 h'), 'differs', 'with other options');
select is(pawl.create_schedule('a.b-c_1', 'w', every => '1 h', tenant => 'x'), 'created', 'in another tenant');
select is((select count(*) from pawl.list_actions() where what = 'create_schedule'), 2::bigint, 'actions are listed');
select throws_ok($$select pawl.trigger('w', key => 'schedule/a/1')$$, 'PW003', null, 'keys of schedules are not for triggers');
select throws_ok($$select pawl.trigger_many('w', array['1']::json[], array['schedule/a/1'])$$, 'PW003', null, 'nor for many');
select * from finish();
