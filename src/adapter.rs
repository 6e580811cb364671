/// What runs the shaders: the access pattern that is fast on one is slow on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum AdapterKind {
    /// A GPU: thousands of invocations in flight.
    Hardware,
    /// Software like Mesa's lavapipe: LLVM compiles shaders for wide vectors of the CPU.
    Lavapipe,
    /// Software like SwiftShader, or any other on a CPU: four invocations in step, a simple compiler.
    SwiftShader,
}

impl AdapterKind {
    /// Every kind.
    pub const ALL: [AdapterKind; 3] = [AdapterKind::Hardware, AdapterKind::Lavapipe, AdapterKind::SwiftShader];
}
