//! Commands on tables: the owner of the client carries them out.

use super::immediate::ImmediateCall;
use super::words::Refusal;
use crate::outside_call::OutsideCall;

/// Hands a command over. The client rests until it is answered.
pub(crate) fn hand_over(call: &mut ImmediateCall<'_>) -> Result<(), Refusal> {
    let mut words: Vec<Vec<u8>> = (0..call.len()).map(|index| call.word(index).to_vec()).collect();
    words[0].make_ascii_lowercase();
    call.client.outside = Some(OutsideCall { words, protocol: call.client.protocol });
    Ok(())
}
