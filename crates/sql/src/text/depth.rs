//! How deep the tree of a statement is, measured by its tokens before it is parsed.
//!
//! The parser bounds how deep parentheses are nested. It reads chains in a loop instead:
//! `a OR b OR c`, `x + y + z`, `SELECT ... UNION ALL SELECT ...`, joins. Each step of a chain is a
//! level of the tree all the same, and the planner descends level by level. So a chain may be so
//! long that the stack of a thread does not hold its levels.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::{Error, Result};

use crate::errors::located;

/// The sum of weights along one path down the tree: a third to two thirds of what 2 MiB hold.
const DEPTH_MAX: usize = 1_024;
/// What AND and OR weigh.
pub(super) const JUNCTION: usize = 1;
/// What every other operator weighs. Planning a chain of them takes time by its cube.
pub(super) const OPERATOR: usize = 4;
/// What a join and a set operation weigh.
pub(super) const RELATION: usize = 8;

/// Refuses a statement that is deeper than that.
///
/// # Errors
/// `Unsupported`, at the position where it becomes too deep.
pub(super) fn check(tokens: &[TokenWithSpan]) -> Result<()> {
    let (mut around, mut group) = (Vec::new(), TokenGroup::default());
    // The weight of the groups around the current one.
    let mut above = 0;
    let mut before = TokenRole::Start;
    for token in tokens {
        let part = TokenRole::of(&token.token, before, group.is_case);
        match part {
            TokenRole::Open { is_case } => {
                above += group.path();
                around.push(std::mem::replace(
                    &mut group,
                    TokenGroup { is_case, ..TokenGroup::default() },
                ));
            }
            TokenRole::Close => {
                // A parenthesis that closes nothing is left to the parser, which says what is wrong
                // with it.
                if let Some(outer) = around.pop() {
                    let inner = std::mem::replace(&mut group, outer).depth();
                    above -= group.path();
                    group.inner = group.inner.max(inner);
                }
            }
            part => group.take(part),
        }
        if above + group.depth() > DEPTH_MAX {
            let error = Error::unsupported(format!(
                "the statement is too deep: one chain may have {} ANDs and ORs, \
                 {} other operators, or {} joins and set operations. Write x IN (...) for many ORs, \
                 VALUES for many UNIONs, or keep parts in a table by CREATE TABLE ... AS",
                DEPTH_MAX / JUNCTION,
                DEPTH_MAX / OPERATOR,
                DEPTH_MAX / RELATION
            ));
            return Err(located(error, token.span.start));
        }
        before = part;
    }
    Ok(())
}

/// How tightly an operator binds: a chain of one kind ends those of the tighter ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperatorBinding {
    /// AND and OR.
    Junction,
    /// `=`, IS, IN, LIKE and the like.
    Test,
    /// `+`, `-`, and all that are not among the others.
    Sum,
    /// `*`, `/` and `%`.
    Product,
}

impl OperatorBinding {
    const COUNT: usize = 4;

    fn weight(at: usize) -> usize {
        if at == OperatorBinding::Junction as usize { JUNCTION } else { OPERATOR }
    }
}

/// What a token is to the tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenRole {
    Start,
    /// A value, a name, or a word that changes nothing.
    Operand,
    /// A word before a value, such as DISTINCT.
    Lead,
    Operator(OperatorBinding),
    Join,
    SetOperation,
    Comma,
    Period,
    /// A word that begins a clause; of FROM commas are joins.
    Clause {
        is_from: bool,
    },
    /// A clause inside of FROM, as ON.
    Inside,
    Open {
        is_case: bool,
    },
    Close,
}

impl TokenRole {
    fn of(token: &Token, before: TokenRole, in_case: bool) -> Self {
        match token {
            Token::LParen | Token::LBrace => TokenRole::Open { is_case: false },
            // After a value it takes a part of it.
            Token::LBracket => TokenRole::Open { is_case: false },
            Token::RParen | Token::RBracket | Token::RBrace => TokenRole::Close,
            Token::Comma => TokenRole::Comma,
            Token::Period => TokenRole::Period,
            // All columns.
            Token::Mul if before != TokenRole::Operand && before != TokenRole::Close => {
                TokenRole::Operand
            }
            Token::Word(word) if word.quote_style.is_none() => {
                Self::of_word(word.keyword, before, in_case)
            }
            Token::Word(_)
            | Token::Number(..)
            | Token::Char(_)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::TripleSingleQuotedString(_)
            | Token::TripleDoubleQuotedString(_)
            | Token::DollarQuotedString(_)
            | Token::SingleQuotedByteStringLiteral(_)
            | Token::DoubleQuotedByteStringLiteral(_)
            | Token::NationalStringLiteral(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::HexStringLiteral(_)
            | Token::Placeholder(_)
            | Token::EOF => TokenRole::Operand,
            Token::Eq
            | Token::DoubleEq
            | Token::Neq
            | Token::Lt
            | Token::LtEq
            | Token::Gt
            | Token::GtEq
            | Token::Spaceship => TokenRole::Operator(OperatorBinding::Test),
            Token::Mul | Token::Div | Token::Mod => TokenRole::Operator(OperatorBinding::Product),
            _ => TokenRole::Operator(OperatorBinding::Sum),
        }
    }

    /// A word right after an operator or a period is a name, whatever else it means elsewhere.
    fn of_word(word: Keyword, before: TokenRole, in_case: bool) -> Self {
        use Keyword::{
            ALL, AND, ANY, AT, BETWEEN, BY, CASE, COLLATE, DISTINCT, DIV, ELSE, END, EXCEPT, FROM,
            GROUP, HAVING, ILIKE, IN, INTERSECT, IS, JOIN, LIKE, LIMIT, MATCH, MEMBER, MINUS, NOT,
            OFFSET, ON, OR, ORDER, OVERLAPS, QUALIFY, REGEXP, RETURNING, RLIKE, SELECT, SET,
            SIMILAR, SOME, THEN, UNION, USING, VALUES, WHEN, WHERE, WINDOW, XOR,
        };
        // Ahead of the next test: after an operator other words are names, but CASE opens a group
        // there.
        if word == CASE && before != TokenRole::Period {
            return TokenRole::Open { is_case: true };
        }
        if matches!(before, TokenRole::Operator(_) | TokenRole::Period) {
            return if word == NOT { TokenRole::Lead } else { TokenRole::Operand };
        }
        match word {
            AND | OR | XOR => TokenRole::Operator(OperatorBinding::Junction),
            JOIN => TokenRole::Join,
            UNION | INTERSECT | EXCEPT | MINUS => TokenRole::SetOperation,
            // The FROM of IS DISTINCT FROM begins no clause.
            FROM if before == TokenRole::Lead => TokenRole::Operand,
            FROM => TokenRole::Clause { is_from: true },
            USING => TokenRole::Clause { is_from: true },
            SELECT | WHERE | GROUP | HAVING | QUALIFY | WINDOW | ORDER | LIMIT | OFFSET
            | VALUES | SET | RETURNING => TokenRole::Clause { is_from: false },
            WHEN | THEN | ELSE | ON => TokenRole::Inside,
            END if in_case => TokenRole::Close,
            IS | IN | LIKE | ILIKE | SIMILAR | REGEXP | RLIKE | MATCH | MEMBER | BETWEEN
            | OVERLAPS => TokenRole::Operator(OperatorBinding::Test),
            AT | COLLATE => TokenRole::Operator(OperatorBinding::Sum),
            DIV => TokenRole::Operator(OperatorBinding::Product),
            NOT | DISTINCT | ALL | ANY | SOME | BY => TokenRole::Lead,
            _ => TokenRole::Operand,
        }
    }
}

/// A chain of operators of one kind.
#[derive(Clone, Copy, Default)]
struct OperatorChain {
    operators: usize,
    /// The deepest part between two of them, but for the last.
    between: usize,
}

/// What is between two parentheses, or between CASE and END.
#[derive(Default)]
struct TokenGroup {
    is_case: bool,
    in_from: bool,
    /// The deepest group since the last operator.
    inner: usize,
    /// Chains in each other since the last comma or clause, the loosest first.
    chains: [OperatorChain; OperatorBinding::COUNT],
    /// The deepest item of the SELECT; its joins.
    item: usize,
    joins: usize,
    /// The deepest SELECT; the set operations.
    select: usize,
    set_operations: usize,
}

impl TokenGroup {
    /// What weighs above the next part.
    fn path(&self) -> usize {
        let chains = self.chains.iter().enumerate();
        let operators = chains.map(|(at, chain)| chain.operators * OperatorBinding::weight(at));
        (self.set_operations + self.joins) * RELATION + operators.sum::<usize>()
    }

    /// What weighs in all of it.
    fn depth(&self) -> usize {
        self.set_operations * RELATION + self.select.max(self.select_depth())
    }

    fn select_depth(&self) -> usize {
        self.joins * RELATION + self.item.max(self.chain_depth(0))
    }

    /// What weighs in a chain and the tighter ones.
    fn chain_depth(&self, from: usize) -> usize {
        let chains = self.chains.iter().enumerate().skip(from).rev();
        chains.fold(self.inner, |tighter, (at, chain)| {
            chain.operators * OperatorBinding::weight(at) + chain.between.max(tighter)
        })
    }

    fn take(&mut self, part: TokenRole) {
        match part {
            TokenRole::Operator(binding) => {
                let at = binding as usize;
                // A looser operator ends the tighter chains, which become one part of its own
                // chain.
                let tighter = self.chain_depth(at + 1);
                self.chains[at + 1..].fill(OperatorChain::default());
                self.inner = 0;
                let chain = &mut self.chains[at];
                chain.between = chain.between.max(tighter);
                chain.operators += 1;
            }
            TokenRole::Comma => {
                self.end_of_item();
                // Between tables a comma is a cross join, one level of the tree. Elsewhere its
                // sides are beside each other.
                self.joins += usize::from(self.in_from);
            }
            TokenRole::Join => {
                self.end_of_item();
                self.joins += 1;
            }
            TokenRole::Inside => self.end_of_item(),
            TokenRole::Clause { is_from } => {
                self.end_of_item();
                self.in_from = is_from;
            }
            TokenRole::SetOperation => {
                self.end_of_item();
                self.select = self.select.max(self.select_depth());
                // The SELECT after the operator begins anew, and has no FROM yet.
                (self.item, self.joins, self.in_from) = (0, 0, false);
                self.set_operations += 1;
            }
            TokenRole::Start
            | TokenRole::Operand
            | TokenRole::Lead
            | TokenRole::Period
            | TokenRole::Open { .. }
            | TokenRole::Close => {}
        }
    }

    fn end_of_item(&mut self) {
        self.item = self.item.max(self.chain_depth(0));
        self.chains = Default::default();
        self.inner = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces;

    fn taken(text: &str) -> bool {
        match pieces(text).unwrap()[0].parse() {
            Ok(_) => true,
            Err(error) => {
                assert!(error.message().contains("the statement is too deep"), "{error}");
                false
            }
        }
    }

    #[test]
    fn each_kind_of_chain_has_its_length() {
        for (first, step, most) in [
            ("SELECT 1 WHERE a", " OR a", 1_024),
            ("SELECT 1 WHERE a = 1", " AND a = 1", 1_020),
            ("SELECT a", " + a", 256),
            ("SELECT a", " || a", 256),
            ("SELECT a * b", " + a * b", 255),
            ("SELECT a", " * -a", 255),
            ("SELECT a", " IS NULL", 256),
            ("SELECT 1", " UNION ALL SELECT 1", 128),
            ("SELECT 1", " EXCEPT SELECT 1", 128),
            ("SELECT 1 FROM t", " CROSS JOIN t", 128),
            ("SELECT 1 FROM t", ", t", 128),
            ("SELECT 1 FROM t", " LEFT JOIN t ON true, t", 64),
        ] {
            let chain = |steps: usize| first.to_owned() + &step.repeat(steps);
            assert!(taken(&chain(most)), "{most} times '{step}'");
            assert!(!taken(&chain(most + 1)), "more than {most} times '{step}'");
        }
    }

    #[test]
    fn siblings_are_not_deep() {
        let many = |part: &str| vec![part; 3_000].join(", ");
        assert!(taken(&format!("SELECT {}", many("a + 1"))));
        assert!(taken(&format!("SELECT a IN ({})", many("-1"))));
        assert!(taken(&format!("VALUES {}", many("(1 + 1, true OR false)"))));
        assert!(taken(&format!("SELECT CASE {} END", "WHEN a = 1 THEN b + 1 ".repeat(3_000))));
        assert!(taken(&format!("UPDATE t SET {} WHERE a = 1 OR b", many("a = a + 1"))));
        assert!(taken("SELECT a IS DISTINCT FROM b, c, d FROM t"));
    }

    #[test]
    fn what_stands_in_each_other_adds_up() {
        let ors = |count: usize| format!("(a{})", " OR a".repeat(count));
        assert!(taken(&format!("SELECT {}", vec![ors(900); 100].join(" OR "))));
        assert!(!taken(&format!("SELECT {}", vec![ors(900); 126].join(" OR "))));
        let unions =
            |count: usize| format!("SELECT {}{}", ors(300), " UNION SELECT a".repeat(count));
        assert!(taken(&unions(90)));
        assert!(!taken(&unions(91)));
        assert!(!taken(&format!("SELECT 1 FROM ({}) JOIN t", unions(90))));
    }

    #[test]
    fn a_word_of_a_clause_that_is_a_name_ends_no_chain() {
        let chain = |step: &str| format!("SELECT a{}", step.repeat(300));
        for step in [" + from", " * from * a", " + CASE WHEN a THEN a END", " + t.when", " + end"] {
            let error = pieces(&chain(step)).unwrap()[0].parse().unwrap_err();
            assert!(error.message().contains("too deep"), "{step}: {error}");
        }
    }
}
