// Where in its dispatch an invocation is. An entry point asks for the members one by one: only there does naga put in what HLSL
// does not know, the number of workgroups.
struct Grid {
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
}

// Folded grids: the number of this workgroup. The last row may hold surplus groups: every kernel guards its bounds.
fn group_number(id: vec3<u32>, groups: vec3<u32>) -> u32 { return id.y * groups.x + id.x; }

override GROUP: u32 = 256u; // invocations of a workgroup

// The number of this invocation.
fn invocation_number(id: vec3<u32>, groups: vec3<u32>, local: u32) -> u32 { return group_number(id, groups) * GROUP + local; }

// Loops. Every loop ends, whatever a plan's numbers are, since wgpu is told not to see to it (src/gpu/kernels.rs): what it counts
// climbs by a constant to a bound that no step leaps over, or is halved to 0. Where the step is more than 1 the bound is no
// more than this, which nothing that is counted reaches. And every loop may be left at its beginning, also one that tests
// at its end: from one that is left at its end alone, SwiftShader gives each invocation what the last one computed.
// tests/shaders/loops.rs sees to both.
const FARTHEST = 0xffff0000u;

// Lengths. Where a kernel asks for the length of an array ahead of a loop, it is to no other end: wgpu compares each index with its
// array's length, and SwiftShader divides, lane by lane, to know a length that was not asked for on the way there.

// Parameters. No loop ends, and no branch is taken, by parameters alone. Where one does, lavapipe puts their values into the shader and
// compiles it once more, and if it becomes half as long for every dispatch anew, which takes a millisecond and more.
