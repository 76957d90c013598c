package oracle.kv.table;

/** The type of a column. */
public interface FieldDef {
    /** The types. UUIDs, days and times of day are STRING here. */
    enum Type {
        /** A list. */
        ARRAY,
        /** Bytes. */
        BINARY,
        /** True or false. */
        BOOLEAN,
        /** Floating point of 8 bytes. */
        DOUBLE,
        /** A text of a list. */
        ENUM,
        /** Bytes of one length. */
        FIXED_BINARY,
        /** Floating point of 4 bytes. */
        FLOAT,
        /** A whole number of 4 bytes. */
        INTEGER,
        /** A whole number of 8 bytes. */
        LONG,
        /** A map. */
        MAP,
        /** A record. */
        RECORD,
        /** Text. */
        STRING,
        /** A document. */
        JSON,
        /** A point in time. */
        TIMESTAMP,
        /** A decimal number. */
        NUMBER
    }

    /** The type. */
    Type getType();

    /** Null: columns have no descriptions. */
    String getDescription();

    /**
     * The type with its texts.
     *
     * @throws ClassCastException for one that is not an enumeration
     */
    default EnumDef asEnum() {
        return (EnumDef) this;
    }

    /** Whether it is of this type. */
    default boolean isType(Type type) {
        return getType() == type;
    }

    /** Whether it is this type. */
    default boolean isBinary() {
        return isType(Type.BINARY);
    }

    /** Whether it is this type. */
    default boolean isBoolean() {
        return isType(Type.BOOLEAN);
    }

    /** Whether it is this type. */
    default boolean isDouble() {
        return isType(Type.DOUBLE);
    }

    /** Whether it is this type. */
    default boolean isEnum() {
        return isType(Type.ENUM);
    }

    /** Whether it is this type. */
    default boolean isFixedBinary() {
        return isType(Type.FIXED_BINARY);
    }

    /** Whether it is this type. */
    default boolean isFloat() {
        return isType(Type.FLOAT);
    }

    /** Whether it is this type. */
    default boolean isInteger() {
        return isType(Type.INTEGER);
    }

    /** Whether it is this type. */
    default boolean isLong() {
        return isType(Type.LONG);
    }

    /** Whether it is this type. */
    default boolean isNumber() {
        return isType(Type.NUMBER);
    }

    /** Whether it is this type. */
    default boolean isString() {
        return isType(Type.STRING);
    }

    /** Whether it is this type. */
    default boolean isTimestamp() {
        return isType(Type.TIMESTAMP);
    }

    /** Whether it is this type. */
    default boolean isArray() {
        return isType(Type.ARRAY);
    }

    /** Whether it is this type. */
    default boolean isMap() {
        return isType(Type.MAP);
    }

    /** Whether it is this type. */
    default boolean isRecord() {
        return isType(Type.RECORD);
    }

    /** Whether it is this type. */
    default boolean isJson() {
        return isType(Type.JSON);
    }
}
