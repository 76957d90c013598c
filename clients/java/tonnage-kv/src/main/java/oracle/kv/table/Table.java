package oracle.kv.table;

import java.util.List;
import java.util.Map;

/** A table: its columns as they were when it was asked for. */
public interface Table {
    /** A table right below this one; null without it. */
    Table getChildTable(String tableName);

    /** Whether there is such a table. */
    boolean childTableExists(String tableName);

    /** The tables right below this one, by their last names. */
    Map<String, Table> getChildTables();

    /** The table above; null for one at the top. */
    Table getParent();

    /** The last name. */
    String getName();

    /** All names, parted by points. */
    String getFullName();

    /** Null: tables have no descriptions. */
    String getDescription();

    /** The columns, in their order. */
    List<String> getFields();

    /** The type of a column; null without it. */
    FieldDef getField(String fieldName);

    /** Whether values may be NULL. */
    boolean isNullable(String fieldName);

    /** The key columns, in their order. */
    List<String> getPrimaryKey();

    /** The columns that decide where a row lives. */
    List<String> getShardKey();

    /** How long rows live that name no other time; null is for ever. */
    TimeToLive getDefaultTTL();

    /** A row without values. */
    Row createRow();

    /** A row with the values of another one. */
    Row createRow(RecordValue value);

    /** A row without values: the store fills defaults in. */
    Row createRowWithDefaults();

    /** A key without values. */
    PrimaryKey createPrimaryKey();

    /** A key with the values of a row. */
    PrimaryKey createPrimaryKey(RecordValue value);

    /** A row for what was there before a write. */
    ReturnRow createReturnRow(ReturnRow.Choice returnChoice);

    /** A row out of JSON; where it is exact all columns must be given, and no others. */
    Row createRowFromJson(String jsonInput, boolean exact);

    /** A key out of JSON. */
    PrimaryKey createPrimaryKeyFromJson(String jsonInput, boolean exact);

    /** A range of a key column. */
    FieldRange createFieldRange(String fieldName);

    /** Options with tables by their full names, which may be null, and a range. */
    MultiRowOptions createMultiRowOptions(List<String> tableNames, FieldRange fieldRange);
}
