package oracle.kv.table;

/** A value of a column. */
public interface FieldValue extends Comparable<FieldValue> {
    /** A copy. */
    FieldValue clone();

    /** The type. */
    FieldDef.Type getType();

    /** Whether it is NULL. */
    boolean isNull();

    /** Whether it has no parts. */
    boolean isAtomic();

    /** Whether it is a number. */
    boolean isNumeric();

    /** Whether it has parts. */
    boolean isComplex();

    /** Whether it is a row. */
    boolean isRow();

    /** Whether it is a key. */
    boolean isPrimaryKey();

    /** Whether it is of this type. */
    boolean isBinary();

    /** Whether it is of this type. */
    boolean isBoolean();

    /** Whether it is of this type. */
    boolean isDouble();

    /** Whether it is of this type. */
    boolean isEnum();

    /** Whether it is of this type. */
    boolean isFixedBinary();

    /** Whether it is of this type. */
    boolean isFloat();

    /** Whether it is of this type. */
    boolean isInteger();

    /** Whether it is of this type. */
    boolean isLong();

    /** Whether it is of this type. */
    boolean isNumber();

    /** Whether it is of this type. */
    boolean isString();

    /** Whether it is of this type. */
    boolean isTimestamp();

    /** Whether it is of this type. */
    boolean isArray();

    /** Whether it is of this type. */
    boolean isMap();

    /** Whether it is of this type. */
    boolean isRecord();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    BinaryValue asBinary();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    BooleanValue asBoolean();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    DoubleValue asDouble();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    EnumValue asEnum();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    FixedBinaryValue asFixedBinary();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    FloatValue asFloat();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    IntegerValue asInteger();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    LongValue asLong();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    NumberValue asNumber();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    StringValue asString();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    TimestampValue asTimestamp();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    ArrayValue asArray();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    MapValue asMap();

    /**
     * As a value of this type.
     *
     * @throws ClassCastException where it is none
     */
    RecordValue asRecord();

    /** As a row. */
    Row asRow();

    /** As a key. */
    PrimaryKey asPrimaryKey();

    /** As JSON; pretty is over several lines. */
    String toJsonString(boolean pretty);
}
