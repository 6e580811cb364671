// wgmax: plans of the maximum operators ReduceMax, ArgMax, Hardmax and Max for WebGPU.
//
// A plan follows from an operation and a device's limits alone; this library makes it, and touches no GPU. A host
// executes it on whatever WebGPU it has: docs/plan.md says how, examples/host.c does it. docs/operations.md has the JSON
// of operations, limits and signatures.
//
// Every function may be called from any thread, at any time. Texts given are not looked at after the return; nobody may
// change them during the call. A text that is not NULL ends with NUL. What goes wrong, a defect of the library included,
// is an error; only where memory runs out the process ends.
//
// Written by cbindgen from src/abi.rs.

#ifndef WGMAX_H
#define WGMAX_H

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The plan of an operation for a device with these limits, as JSON: shaders, parameters, grids and bindings. The same
// operation and limits give the same plan, so keep it.
//
// operation: JSON in UTF-8, ended by NUL.
// limits: the same. NULL stands for WebGPU's default limits: that plan runs on every device.
// error: NULL, or where to put what is wrong: a text for people, or NULL if nothing is.
//
// Returns the plan, or NULL if there is none. Plan and error are the caller's, to be given to wgmax_free.
char *wgmax_plan(const char *operation, const char *limits, char **error);

// What an operation reads and writes, as JSON: the type of each input and the elements and bytes that it needs, the type
// and the shape of each output.
//
// Arguments and what is returned are as in wgmax_plan.
char *wgmax_signature(const char *operation, char **error);

// Frees a text that wgmax_plan or wgmax_signature gave, an error too, once. NULL is nothing to free.
void wgmax_free(char *text);

// The version of this library, such as "0.1.0". It is not to be freed.
const char *wgmax_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WGMAX_H */
