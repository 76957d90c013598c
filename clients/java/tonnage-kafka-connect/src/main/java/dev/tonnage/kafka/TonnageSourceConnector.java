package dev.tonnage.kafka;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.util.ConnectorUtils;

/** Makes records of the rows that are new in tables. Its tasks share the tables. */
public final class TonnageSourceConnector extends SourceConnector {
    private Map<String, String> properties;

    /** One that is not started yet. */
    public TonnageSourceConnector() {
    }

    @Override
    public void start(Map<String, String> props) {
        // What is wrong with them is told before tasks are made.
        new SourceSettings(props).check();
        properties = Map.copyOf(props);
    }

    @Override
    public Class<? extends Task> taskClass() {
        return TonnageSourceTask.class;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        List<String> tables = new SourceSettings(properties).getList(SourceSettings.TABLES);
        List<Map<String, String>> tasks = new ArrayList<>();
        int count = Math.min(maxTasks, tables.size());
        for (List<String> share : ConnectorUtils.groupPartitions(tables, count)) {
            Map<String, String> task = new HashMap<>(properties);
            task.put(SourceSettings.TABLES, String.join(",", share));
            tasks.add(task);
        }
        return tasks;
    }

    @Override
    public boolean alterOffsets(Map<String, String> config,
            Map<Map<String, ?>, Map<String, ?>> offsets) {
        offsets.forEach((partition, offset) -> {
            if (!(partition.get(TableFollower.TABLE) instanceof String)) {
                throw new ConnectException("the partition " + partition + " has no `"
                        + TableFollower.TABLE + "`: write {\"table\": \"ships\"}");
            }
            if (offset != null) {
                new VersionSet(1 << 20).addText(TableFollower.textOf(offset));
            }
        });
        return true;
    }

    @Override
    public void stop() {
        // Tasks close what they opened.
    }

    @Override
    public Config validate(Map<String, String> given) {
        Config config = super.validate(given);
        if (ServerSettings.isRight(config)) {
            new SourceSettings(given).tellFaults(config);
        }
        return config;
    }

    @Override
    public ConfigDef config() {
        return SourceSettings.DEFINITION;
    }

    @Override
    public String version() {
        return TonnageSinkConnector.VERSION;
    }
}
