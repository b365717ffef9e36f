/* What the spawn patterns count, for patterns that are written in another language than C++. C11; also reads
 * as C++. teff/spawn/foreign_patterns.hpp says what such a language has to offer. Any thread may call these.
 */
#ifndef TEFF_SPAWN_H
#define TEFF_SPAWN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tree that is searched; it is constant meanwhile. */
typedef struct teff_spawn_tree teff_spawn_tree;

typedef struct teff_spawn_node {
  uint32_t state[5];
  int32_t depth; /* the root's is 0 */
} teff_spawn_node;

/* What a search has seen. */
typedef struct teff_spawn_counts {
  int64_t nodes;
  int64_t leaves;
  int32_t depth; /* of the deepest node */
} teff_spawn_counts;

/* A task that does nothing but count itself. */
void teff_spawn_null_task(int64_t index);

/* How many children a node has. */
int32_t teff_spawn_children(const teff_spawn_tree* tree, const teff_spawn_node* of);

/* Makes a child, and returns how many children it has itself. */
int32_t teff_spawn_child(const teff_spawn_tree* tree, const teff_spawn_node* of, int32_t index,
                         teff_spawn_node* child);

/* Binds the calling thread to a worker's core. */
void teff_spawn_pin(int32_t worker);

#ifdef __cplusplus
}
#endif

#endif
