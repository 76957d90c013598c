package oracle.kv.table;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/** Values with names: a row, or a record within one. */
public interface RecordValue extends FieldValue {
    /** The names of all members, in their order. */
    List<String> getFieldNames();

    /** The names of all members, in their order. */
    List<String> getFields();

    @Override
    RecordValue clone();

    /** Removes all values. */
    void clear();

    /** A value; null where none is set. */
    FieldValue get(String fieldName);

    /** A value by the place of its member, from 0. */
    FieldValue get(int position);

    /** How many members have a value. */
    int size();

    /** Whether none has a value. */
    boolean isEmpty();

    /** Takes over the values of members that both have. */
    void copyFrom(RecordValue source);

    /** Whether there is such a member. */
    boolean contains(String fieldName);

    /** Removes a value, and returns it. */
    FieldValue remove(String fieldName);

    /** Sets a member. */
    RecordValue put(String fieldName, int value);

    /** Sets a member. */
    RecordValue put(String fieldName, long value);

    /** Sets a member. */
    RecordValue put(String fieldName, String value);

    /** Sets a member. */
    RecordValue put(String fieldName, double value);

    /** Sets a member. */
    RecordValue put(String fieldName, float value);

    /** Sets a member. */
    RecordValue put(String fieldName, boolean value);

    /** Sets a member. */
    RecordValue put(String fieldName, byte[] value);

    /** Sets a member. */
    RecordValue put(String fieldName, java.sql.Timestamp value);

    /** Sets a member. */
    RecordValue put(String fieldName, FieldValue value);

    /** Sets bytes of one length. */
    RecordValue putFixed(String fieldName, byte[] value);

    /** Sets one of the texts of an enumeration. */
    RecordValue putEnum(String fieldName, String value);

    /** Sets a decimal number. */
    RecordValue putNumber(String fieldName, int value);

    /** Sets a decimal number. */
    RecordValue putNumber(String fieldName, long value);

    /** Sets a decimal number. */
    RecordValue putNumber(String fieldName, float value);

    /** Sets a decimal number. */
    RecordValue putNumber(String fieldName, double value);

    /** Sets a decimal number. */
    RecordValue putNumber(String fieldName, BigDecimal value);

    /** Sets NULL. */
    RecordValue putNull(String fieldName);

    /** Sets a document. */
    RecordValue putJson(String fieldName, String jsonInput);

    /** Sets a list. Its items are values of Java. */
    RecordValue putArray(String fieldName, Iterable<?> list);

    /** Sets a list. Its items are values of Java. */
    RecordValue putArray(String fieldName, Object[] array);

    /** Sets a map. Its values are those of Java. */
    RecordValue putMap(String fieldName, Map<String, ?> map);

    /** Sets a record. Its values are those of Java. */
    RecordValue putRecord(String fieldName, Map<String, ?> map);
}
