-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select lives_ok($$select pawl.register('w', '{a}', protocol => 1)$$, 'the one that is spoken');
select throws_ok($$select pawl.register('w', '{a}', protocol => 0)$$, 'PW011', null, 'older');
select throws_ok($$select pawl.register('w', '{a}', protocol => 2)$$, 'PW011', 'worker speaks protocol 2, this schema 1 to 1', 'newer, and it says why');
select throws_ok($$select pawl.register('w', '{a}', protocol => null)$$, 'PW011', null, 'none');
select is((select count(*) from pawl.list_workers()), 1::bigint, 'only one has registered');

select * from finish();
