//! Greedy decoding with a small language-model head in burn: the next token of each row, and its one-hot, by wgmax and by
//! burn.
//!
//!     cargo run --example greedy [ROWS [VOCABULARY]]
//!
//! The answers are checked against wgmax's reference on the CPU. Both are timed in turns, each with a wait for the
//! device.

use std::time::Instant;

use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::gelu;
use burn::tensor::{Device, Distribution, Int, Tensor};
use wgmax::{ArgMax, DType, Hardmax, IndexType, Operation, Slices, View};
use wgmax_burn::Maxima;

const WIDTH: usize = 64;
const RUNS: usize = 31;

/// What stands at the end of a language model: a layer, and a score for each token of the vocabulary.
struct Head {
    hidden: Linear,
    scores: Linear,
}

impl Head {
    fn new(vocabulary: usize, device: &Device) -> Head {
        let linear = |from, to| LinearConfig::new(from, to).init(device);
        Head { hidden: linear(WIDTH, 4 * WIDTH), scores: linear(4 * WIDTH, vocabulary) }
    }

    fn logits(&self, states: Tensor<2>) -> Tensor<2> {
        self.scores.forward(gelu(self.hidden.forward(states)))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers = std::env::args().skip(1).map(|own| own.parse()).collect::<Result<Vec<usize>, _>>()?;
    let (rows, vocabulary) = (numbers.first().copied().unwrap_or(8), numbers.get(1).copied().unwrap_or(32_000));

    let device = wgmax_burn::open(Device::wgpu_options())?;
    device.seed(7);
    let head = Head::new(vocabulary, &device);
    let states = Tensor::<2>::random([rows, WIDTH], Distribution::Normal(0.0, 1.0), &device);
    let logits = head.logits(states);

    let tokens = logits.clone().wgmax_argmax(1);
    let one_hot = logits.clone().wgmax_hardmax(1);

    let host =
        wgmax::Tensor::from_bytes(DType::F32, [rows as u64, vocabulary as u64], logits.to_data().as_bytes().to_vec())?;
    let view = View::new(host.shape())?;
    let expected = ArgMax::new(DType::F32, view.clone()).axes([1]).index(IndexType::I32).reference(&[&host])?;
    assert_eq!(tokens.to_data().as_bytes(), expected[0].bytes(), "tokens");
    let expected = Hardmax::new(DType::F32, view, Slices::Along(1)).reference(&[&host])?;
    assert_eq!(one_hot.to_data().as_bytes(), expected[0].bytes(), "one-hot");
    let adapter = device.identity().map_or("an unnamed adapter".into(), |own| own.name);
    println!("{rows} rows of {vocabulary} logits on {adapter}: tokens and one-hot as wgmax's reference has them");
    let first = tokens.to_data().iter::<i32>().take(8).map(|token| token.to_string()).collect::<Vec<_>>();
    println!("tokens: {} ...", first.join(" "));

    let burn_tokens = |logits: Tensor<2>| -> Tensor<2, Int> { logits.argmax(1) };
    let burn_one_hot =
        |logits: Tensor<2>| -> Tensor<2> { burn_tokens(logits).squeeze_dim::<1>(1).one_hot::<2>(vocabulary).float() };
    say_same("argmax", burn_tokens(logits.clone()).to_data() == tokens.to_data());
    say_same("one_hot", burn_one_hot(logits.clone()).to_data() == one_hot.to_data());

    let timed = |work: &dyn Fn(Tensor<2>)| {
        let begin = Instant::now();
        work(logits.clone());
        device.sync().expect("the device answers");
        begin.elapsed().as_secs_f64() * 1e3
    };
    let in_turns = |ours: &dyn Fn(Tensor<2>), burns: &dyn Fn(Tensor<2>)| {
        let mut times: Vec<(f64, f64)> = (0..RUNS + 3).map(|_| (timed(ours), timed(burns))).collect();
        times.drain(..3); // these compile
        (median(times.iter().map(|own| own.0)), median(times.iter().map(|own| own.1)))
    };
    println!("\nmedians of {RUNS} runs in turns, in ms      wgmax     burn");
    for (what, (ours, burns)) in [
        ("token of each row", in_turns(&|x| drop(x.wgmax_argmax(1)), &|x| drop(burn_tokens(x)))),
        ("one-hot of each row", in_turns(&|x| drop(x.wgmax_hardmax(1)), &|x| drop(burn_one_hot(x)))),
    ] {
        println!("{what:<38} {ours:>8.2} {burns:>8.2}");
    }
    Ok(())
}

/// burn's answer may be another where two logits are equal, or where its kernels are wrong on this adapter.
fn say_same(what: &str, same: bool) {
    println!("burn's own {what}: {}", if same { "the same" } else { "ANOTHER ANSWER" });
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
