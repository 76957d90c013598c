package oracle.kv.table;

import java.math.BigDecimal;

/** A value of type NUMBER. */
public interface NumberValue extends FieldValue {
    /** The value. */
    BigDecimal get();
}
