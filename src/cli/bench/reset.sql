-- SPDX-License-Identifier: Apache-2.0
-- The bare baseline becomes slower as its tables grow, so each round begins with empty tables.
truncate bare.active, bare.history, bare.step
