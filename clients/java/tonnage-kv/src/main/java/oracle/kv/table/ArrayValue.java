package oracle.kv.table;

import java.util.List;

/** A list. */
public interface ArrayValue extends FieldValue {
    /** An item, from 0. */
    FieldValue get(int index);

    /** How many items there are. */
    int size();

    /** All items. */
    List<FieldValue> toList();
}
