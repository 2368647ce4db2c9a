/* The subcommands; files are named command_<name>.c. */
#ifndef AS_CLI_COMMANDS_H
#define AS_CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct as_command as_command_run, as_command_plan, as_command_resume, as_command_replay, as_command_show,
    as_command_history, as_command_compare, as_command_check, as_command_facts, as_command_advise, as_command_explain,
    as_command_report, as_command_export, as_command_import, as_command_delete, as_command_list, as_command_devices,
    as_command_doctor, as_command_memory, as_command_fleet, as_command_help, as_command_version,
    as_command_machine; /* without a subcommand */

#endif
