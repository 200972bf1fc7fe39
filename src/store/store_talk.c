/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_talk.h"

#include "store/batch.h"

/* Writes of conversations and responses; the schema does the rest. */

int store_batch_put_conversation(struct store_batch *batch,
				 const struct store_conversation *row)
{
	return batch_put(batch, ROW_CONVERSATION, row, NULL);
}

int store_batch_touch_conversation(struct store_batch *batch, const char *id,
				   usec_t changed_usec)
{
	return batch_add(batch, &(struct op_spec){ .kind = OP_TOUCH,
						   .type = ROW_CONVERSATION,
						   .id = id,
						   .value = changed_usec });
}

int store_batch_delete_conversation(struct store_batch *batch, const char *id)
{
	return batch_add(batch, &(struct op_spec){ .kind = OP_DELETE,
						   .type = ROW_CONVERSATION,
						   .id = id });
}

int store_batch_add_conversation_item(struct store_batch *batch,
				      const struct store_item *row)
{
	return batch_put(batch, ROW_CONVERSATION_ITEM, row, NULL);
}

int store_batch_delete_conversation_item(struct store_batch *batch,
					 const char *conversation,
					 const char *id)
{
	return batch_add(batch, &(struct op_spec){ .kind = OP_DELETE,
						   .type = ROW_CONVERSATION_ITEM,
						   .id = id,
						   .owner = conversation });
}

int store_batch_put_conversation_container(
	struct store_batch *batch,
	const struct store_conversation_container *row)
{
	return batch_put(batch, ROW_CONVERSATION_CONTAINER, row, NULL);
}

int store_batch_put_response(struct store_batch *batch,
			     const struct store_response *row)
{
	return batch_put(batch, ROW_RESPONSE, row, NULL);
}

int store_batch_delete_response(struct store_batch *batch, const char *id)
{
	return batch_add(batch, &(struct op_spec){ .kind = OP_DELETE,
						   .type = ROW_RESPONSE,
						   .id = id });
}

int store_batch_put_response_item(struct store_batch *batch,
				  const struct store_item *row)
{
	return batch_put(batch, ROW_RESPONSE_ITEM, row, NULL);
}

int store_batch_trim_outputs(struct store_batch *batch, const char *response,
			     uint32_t position)
{
	return batch_add(batch, &(struct op_spec){ .kind = OP_TRIM_OUTPUTS,
						   .type = ROW_RESPONSE,
						   .id = response,
						   .value = position });
}

int store_batch_append_response(struct store_batch *batch,
				const char *response)
{
	return batch_add(batch, &(struct op_spec){ .kind = OP_APPEND,
						   .type = ROW_RESPONSE,
						   .id = response });
}
