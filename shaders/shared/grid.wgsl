// Folded grids: the number of this workgroup. The last row may hold surplus groups: every kernel guards its bounds.
fn group_number(id: vec3<u32>, groups: vec3<u32>) -> u32 { return id.y * groups.x + id.x; }

// Every kernel asks for the lengths of its arrays before it loops over them, mostly to no other end. wgpu compares each index
// with its array's length, and SwiftShader divides, lane by lane, to know a length that it has not asked for before.
