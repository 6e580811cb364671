// Folded grids: the number of this workgroup. The last row may hold surplus groups: every kernel guards its bounds.
fn group_number(id: vec3<u32>, groups: vec3<u32>) -> u32 { return id.y * groups.x + id.x; }

// Where a kernel asks for the length of an array ahead of a loop, it is to no other end: wgpu compares each index with its
// array's length, and SwiftShader divides, lane by lane, to know a length that was not asked for on the way there.
