-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select is((select epoch from pawl.register('w', '{a}')), 1, 'register');
select t.session() as s \gset
select is((select epoch from pawl.heartbeat(:s)), 1, 'heartbeat');
select pawl.raise_epoch('test') \g /dev/null
select is((select epoch from pawl.register('w', '{a}')), 2, 'and it rises');

select * from finish();
