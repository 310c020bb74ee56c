-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
begin isolation level repeatable read;
select throws_ok(format('select * from pawl.claim(%s)', :s), 'PW008', null, 'claim in repeatable read');
select throws_ok(format('select * from pawl.commit(%s, ''{}'', ''{}'', ''{}'')', :s), 'PW008', null, 'commit');
select throws_ok(format('select * from pawl.commit_each(%s, ''{}'', ''{}'', ''{}'')', :s), 'PW008', null, 'commit_each');
select throws_ok(format('select * from pawl.heartbeat(%s)', :s), 'PW008', null, 'heartbeat');
select throws_ok(format('select * from pawl.leave(%s)', :s), 'PW008', null, 'leave');
commit;
begin isolation level serializable;
select throws_ok(format('select * from pawl.claim(%s)', :s), 'PW008', null, 'claim in serializable');
commit;

select * from finish();
