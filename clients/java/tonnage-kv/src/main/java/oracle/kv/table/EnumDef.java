package oracle.kv.table;

/** The type of a column that holds texts of a list. */
public interface EnumDef extends FieldDef {
    /** The texts, in their order. */
    String[] getValues();

    /** Whether a text is one of them. */
    boolean isValidEnum(String value);
}
