/* The table of subcommands. */
#include "cli/commands/commands.h"

#include <string.h>

const struct as_command *const as_commands[] = {
    &as_command_run,
    &as_command_plan,
    &as_command_resume,
    &as_command_replay,
    &as_command_show,
    &as_command_history,
    &as_command_compare,
    &as_command_check,
    &as_command_facts,
    &as_command_advise,
    &as_command_explain,
    &as_command_report,
    &as_command_export,
    &as_command_import,
    &as_command_delete,
    &as_command_list,
    &as_command_devices,
    &as_command_doctor,
    &as_command_memory,
    &as_command_fleet,
    &as_command_help,
    &as_command_version,
    NULL,
};

const struct as_command *as_command_find(const char *name)
{
    for (size_t i = 0; as_commands[i]; i++)
        if (strcmp(as_commands[i]->name, name) == 0)
            return as_commands[i];
    return NULL;
}
