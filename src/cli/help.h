#ifndef CUPOLA_CLI_HELP_H
#define CUPOLA_CLI_HELP_H

/** help_print_more() - What a command's help says behind its options */
void help_print_more(const char *command);

#endif
