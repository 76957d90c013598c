//! The Hilbert curve over a grid of 2^32 by 2^32 squares.
//!
//! The curve visits the quadrants of a square in an order, and each quadrant likewise, turned. It
//! begins at the least column and row, and ends at the greatest column and the least row.

/// How the curve is in a square: [`SWAPPED`] and [`REVERSED`], or none of them.
pub(super) type Turn = u8;

/// Columns and rows are exchanged.
const SWAPPED: Turn = 1;
/// Both run the other way.
const REVERSED: Turn = 2;

/// How the curve is turned in each quadrant, in the order in which it visits them.
const TURNS: [Turn; 4] = [SWAPPED, 0, 0, SWAPPED | REVERSED];

/// Levels that [`TABLE`] takes in one step.
const STEP: u32 = 4;

/// For each turn, and for 4 bits of the column with 4 of the row: 8 bits of the position, and above
/// them the turn of the square that these lead to.
const TABLE: [[u16; 256]; 4] = table();

/// The position of a square on the curve.
pub(super) fn position(column: u32, row: u32) -> u64 {
    let (mut position, mut turn) = (0_u64, 0);
    for step in (0..32 / STEP).rev() {
        let bits = |number: u32| (number >> (step * STEP)) as usize & 0xF;
        let entry = TABLE[turn][bits(column) << STEP | bits(row)];
        position = position << (2 * STEP) | u64::from(entry & 0xFF);
        turn = usize::from(entry >> 8);
    }
    position
}

/// The quadrant that the curve visits at a position (0 to 3) in a square that is turned so: right
/// or left, upper or lower, and how the curve is in it.
pub(super) const fn quadrant(turn: Turn, place: u8) -> (u8, u8, Turn) {
    let (right, upper) = turned(turn, place >> 1, (place >> 1 ^ place) & 1);
    (right, upper, turn ^ TURNS[place as usize])
}

/// The place of a quadrant.
const fn place(turn: Turn, right: u8, upper: u8) -> u8 {
    let (right, upper) = turned(turn, right, upper);
    right << 1 | (right ^ upper)
}

/// Each turn undoes itself, and the order of two does not matter.
const fn turned(turn: Turn, right: u8, upper: u8) -> (u8, u8) {
    let (right, upper) = if turn & REVERSED == 0 { (right, upper) } else { (right ^ 1, upper ^ 1) };
    if turn & SWAPPED == 0 { (right, upper) } else { (upper, right) }
}

const fn table() -> [[u16; 256]; 4] {
    let mut table = [[0; 256]; 4];
    let mut turn = 0;
    while turn < 4 {
        let mut bits = 0;
        while bits < 256 {
            let (mut position, mut inner, mut level) = (0_u16, turn as Turn, STEP);
            while level > 0 {
                level -= 1;
                let right = (bits >> (STEP + level)) as u8 & 1;
                let upper = (bits >> level) as u8 & 1;
                let place = place(inner, right, upper);
                position = position << 2 | place as u16;
                inner ^= TURNS[place as usize];
            }
            table[turn][bits] = position | (inner as u16) << 8;
            bits += 1;
        }
        turn += 1;
    }
    table
}
