// Folded grids: the number of this workgroup. The last row may hold surplus groups: every kernel guards its bounds.
fn group_number(id: vec3<u32>, groups: vec3<u32>) -> u32 { return id.y * groups.x + id.x; }
