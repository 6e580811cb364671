/** WebGPU's flags, by their numbers in the specification: outside of browsers there are no globals that hold them. */
export const BufferUsage = { MAP_READ: 0x1, COPY_SRC: 0x4, COPY_DST: 0x8, UNIFORM: 0x40, STORAGE: 0x80 };
const USAGES = [
  "MAP_READ", "MAP_WRITE", "COPY_SRC", "COPY_DST", "INDEX", "VERTEX", "UNIFORM", "STORAGE", "INDIRECT", "QUERY_RESOLVE",
];
/** The names of usages, for messages. */
export const usageNames = (usage: number): string => USAGES.filter((_, bit) => (usage >> bit) & 1).join(" | ") || "none";
export const MAP_MODE_READ = 0x1;
export const SHADER_STAGE_COMPUTE = 0x4;
