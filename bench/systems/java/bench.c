/* What Bench.java declares, by libteff_bench.so. */
#include <jni.h>
#include <stdlib.h>

#include "teff_bench.h"

#define BENCH(result, name) JNIEXPORT result JNICALL Java_Bench_##name

static void* pointer(jlong handle) {
  return (void*)(intptr_t)handle;
}

static jlong handle(const void* pointer) {
  return (jlong)(intptr_t)pointer;
}

BENCH(jlong, open)(JNIEnv* env, jclass of, jobjectArray words) {
  (void)of;
  const jsize count = (*env)->GetArrayLength(env, words);
  const char** flags = calloc((size_t)count + 1, sizeof *flags);
  for (jsize i = 0; i < count; ++i)
    flags[i] = (*env)->GetStringUTFChars(env, (*env)->GetObjectArrayElement(env, words, i), NULL);
  return handle(teff_session_open(count, flags)); /* the words live as long as the program */
}

BENCH(jstring, error)(JNIEnv* env, jclass of) {
  (void)of;
  return (*env)->NewStringUTF(env, teff_error());
}

BENCH(jint, workers)(JNIEnv* env, jclass of, jlong session) {
  (void)env, (void)of;
  return teff_session_workers(pointer(session));
}

BENCH(void, identify)(JNIEnv* env, jclass of, jlong session, jstring variant, jstring version, jint workers) {
  (void)of;
  const char* name = (*env)->GetStringUTFChars(env, variant, NULL);
  const char* release = (*env)->GetStringUTFChars(env, version, NULL);
  const teff_identity who = {"java", name, release, workers, 1};
  teff_session_identify(pointer(session), &who);
  (*env)->ReleaseStringUTFChars(env, variant, name);
  (*env)->ReleaseStringUTFChars(env, version, release);
}

BENCH(jlong, next)(JNIEnv* env, jclass of, jlong session, jint workers) {
  (void)env, (void)of;
  teff_workload* work = teff_session_next(pointer(session), workers);
  if (work != NULL) teff_keep_outputs(work);
  return handle(work);
}

BENCH(void, answer)(JNIEnv* env, jclass of, jlong session, jlong work) {
  (void)env, (void)of;
  teff_session_answer(pointer(session), pointer(work), NULL, 0);
}

BENCH(jint, close)(JNIEnv* env, jclass of, jlong session) {
  (void)env, (void)of;
  return teff_session_close(pointer(session));
}

BENCH(jlong, create)(JNIEnv* env, jclass of, jstring flags, jint workers) {
  (void)of;
  const char* text = (*env)->GetStringUTFChars(env, flags, NULL);
  teff_workload* work = teff_workload_new(text, workers);
  (*env)->ReleaseStringUTFChars(env, flags, text);
  if (work != NULL) teff_keep_outputs(work);
  return handle(work);
}

BENCH(void, free)(JNIEnv* env, jclass of, jlong work) {
  (void)env, (void)of;
  teff_workload_free(pointer(work));
}

BENCH(jint, graphs)(JNIEnv* env, jclass of, jlong work) {
  (void)env, (void)of;
  return teff_graphs(pointer(work));
}

BENCH(jlong, steps)(JNIEnv* env, jclass of, jlong work, jint graph) {
  (void)env, (void)of;
  return teff_steps(pointer(work), graph);
}

BENCH(jint, width)(JNIEnv* env, jclass of, jlong work, jint graph) {
  (void)env, (void)of;
  return (jint)teff_width(pointer(work), graph);
}

BENCH(jint, cycle)(JNIEnv* env, jclass of, jlong work, jint graph) {
  (void)env, (void)of;
  return (jint)teff_cycle(pointer(work), graph);
}

static jintArray array(JNIEnv* env, const jint* values, jsize count) {
  jintArray made = (*env)->NewIntArray(env, count);
  if (made != NULL) (*env)->SetIntArrayRegion(env, made, 0, count, values);
  return made;
}

BENCH(jintArray, points)(JNIEnv* env, jclass of, jlong work, jint graph, jlong timestep) {
  (void)of;
  int64_t first = 0;
  const int64_t count = teff_points(pointer(work), graph, timestep, &first);
  const jint bounds[] = {(jint)first, (jint)(first + count)};
  return array(env, bounds, 2);
}

BENCH(jintArray, successors)(JNIEnv* env, jclass of, jlong work, jint graph, jlong timestep, jint point) {
  (void)of;
  const int64_t count = teff_successors(pointer(work), graph, timestep, point, NULL, 0);
  int64_t* points = malloc((size_t)(count + 1) * sizeof *points);
  jint* values = malloc((size_t)(count + 1) * sizeof *values);
  teff_successors(pointer(work), graph, timestep, point, points, count);
  for (int64_t i = 0; i < count; ++i) values[i] = (jint)points[i];
  jintArray made = array(env, values, (jsize)count);
  free(points);
  free(values);
  return made;
}

BENCH(jint, predecessors)(JNIEnv* env, jclass of, jlong work, jint graph, jlong timestep, jint point) {
  (void)env, (void)of;
  return (jint)teff_predecessors(pointer(work), graph, timestep, point, NULL, 0);
}

BENCH(void, execute)(JNIEnv* env, jclass of, jlong work, jint graph, jlong timestep, jint point,
                     jint worker) {
  (void)env, (void)of;
  teff_execute_kept(pointer(work), graph, timestep, point, worker);
}

BENCH(void, start)(JNIEnv* env, jclass of, jlong work) {
  (void)env, (void)of;
  teff_start(pointer(work));
}

BENCH(void, stop)(JNIEnv* env, jclass of, jlong work) {
  (void)env, (void)of;
  teff_stop(pointer(work));
}

BENCH(void, bindToCore)(JNIEnv* env, jclass of, jint index) {
  (void)env, (void)of;
  teff_bind_to_core(index);
}
