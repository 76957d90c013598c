package oracle.kv.table;

import java.sql.Timestamp;

/** A point in time, in UTC. */
public interface TimestampValue extends FieldValue {
    /** The value. */
    Timestamp get();
}
