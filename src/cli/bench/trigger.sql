-- SPDX-License-Identifier: Apache-2.0
select run_id from pawl.trigger('bench.trigger', bench.pad()::json);
