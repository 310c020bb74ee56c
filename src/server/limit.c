/* SPDX-License-Identifier: Apache-2.0 */
#include "server/limit.h"

#include "base/alloc.h"
#include "base/rand.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

enum {
    SETS = 1024,
    WAYS = 8, /* keys that share a set; the one that was used longest ago gives way */
};

struct bucket {
    uint8_t key[LIMIT_KEY_SIZE];
    double left;
    int64_t at_us; /* when left was right; 0: the bucket is free */
};

struct limit {
    pthread_mutex_t mutex;
    double rate;
    double burst;
    uint32_t seed; /* random: a client cannot make keys that share a set */
    struct bucket buckets[SETS][WAYS];
};

struct limit *
limit_new(double rate, double burst)
{
    struct limit *limit = pw_calloc(1, sizeof(*limit));
    struct pw_rand rand;

    if (limit == NULL)
        return NULL;
    (void)pthread_mutex_init(&limit->mutex, NULL); /* cannot fail for a plain mutex */
    limit->rate = rate;
    limit->burst = burst;
    pw_rand_init_any(&rand);
    limit->seed = (uint32_t)pw_rand_next(&rand);
    return limit;
}

void
limit_free(struct limit *limit)
{
    if (limit == NULL)
        return;
    (void)pthread_mutex_destroy(&limit->mutex);
    pw_free(limit);
}

/* Returns the set of a key. */
static struct bucket *
set_of(struct limit *limit, const uint8_t key[LIMIT_KEY_SIZE])
{
    uint32_t hash = 2166136261u ^ limit->seed;

    for (size_t i = 0; i < LIMIT_KEY_SIZE; i++)
        hash = (hash ^ key[i]) * 16777619u;
    return limit->buckets[(hash ^ hash >> 16) % SETS];
}

/* Returns the bucket of a key, or NULL. */
static struct bucket *
get(struct bucket *set, const uint8_t key[LIMIT_KEY_SIZE])
{
    for (size_t i = 0; i < WAYS; i++)
        if (set[i].at_us != 0 && memcmp(set[i].key, key, LIMIT_KEY_SIZE) == 0)
            return &set[i];
    return NULL;
}

/* Returns the bucket of a key, filled for the time that has passed. */
static struct bucket *
find(struct limit *limit, const uint8_t key[LIMIT_KEY_SIZE], int64_t now_us)
{
    struct bucket *set = set_of(limit, key);
    struct bucket *bucket = get(set, key);

    if (bucket != NULL) {
        bucket->left += (double)(now_us - bucket->at_us) / 1e6 * limit->rate;
        if (bucket->left > limit->burst)
            bucket->left = limit->burst;
    } else {
        bucket = &set[0];
        for (size_t i = 1; i < WAYS; i++)
            if (set[i].at_us < bucket->at_us)
                bucket = &set[i];
        memcpy(bucket->key, key, LIMIT_KEY_SIZE);
        bucket->left = limit->burst;
    }
    bucket->at_us = now_us;
    return bucket;
}

static bool
look(struct limit *limit, const uint8_t key[LIMIT_KEY_SIZE], int64_t now_us, double cost,
    unsigned *retry_s)
{
    struct bucket *bucket;
    bool has;

    (void)pthread_mutex_lock(&limit->mutex);
    bucket = find(limit, key, now_us);
    has = bucket->left >= 1;
    if (has)
        bucket->left -= cost;
    *retry_s = has ? 0 : 1 + (unsigned)((1 - bucket->left) / limit->rate);
    (void)pthread_mutex_unlock(&limit->mutex);
    return has;
}

bool
limit_take(
    struct limit *limit, const uint8_t key[LIMIT_KEY_SIZE], int64_t now_us, unsigned *retry_s)
{
    return look(limit, key, now_us, 1, retry_s);
}

bool
limit_has(struct limit *limit, const uint8_t key[LIMIT_KEY_SIZE], int64_t now_us, unsigned *retry_s)
{
    return look(limit, key, now_us, 0, retry_s);
}

bool
limit_knows(struct limit *limit, const uint8_t key[LIMIT_KEY_SIZE])
{
    bool known;

    (void)pthread_mutex_lock(&limit->mutex);
    known = get(set_of(limit, key), key) != NULL;
    (void)pthread_mutex_unlock(&limit->mutex);
    return known;
}
