package oracle.kv.table;

import java.util.Map;

/** A map. */
public interface MapValue extends FieldValue {
    /** How many entries there are. */
    int size();

    /** All entries. */
    Map<String, FieldValue> getFields();

    /** A value; null without it. */
    FieldValue get(String fieldName);
}
