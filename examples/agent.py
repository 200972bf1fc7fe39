"""Ask a prompt agent about a table: what it is and may use is kept by the server.

    python3 -m venv env && env/bin/pip install openai
    export CUPOLA_URL=http://127.0.0.1:8080 CUPOLA_API_KEY=ck-... MODEL=qwen3
    env/bin/python agent.py table.csv "What is the standard deviation of price? Draw it."

The agent is made once. Each request names it, and fills its structured inputs.
"""

import os
import pathlib
import sys

import openai

NEEDED = ("CUPOLA_URL", "CUPOLA_API_KEY", "MODEL")
if len(sys.argv) != 3 or not all(os.environ.get(name) for name in NEEDED):
    sys.exit("usage: agent.py FILE QUESTION, with CUPOLA_URL, CUPOLA_API_KEY and MODEL set")

PROJECT = os.environ["CUPOLA_URL"] + "/api/projects/default"
NAME = "table-analyst"

DEFINITION = {
    "kind": "prompt",
    "model": os.environ["MODEL"],
    "instructions": "You are an analyst. Answer in {{language}}. Run code to answer, "
                    "save charts below /mnt/data and link to them.",
    "tools": [{"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["{{table}}"]}}],
    "structured_inputs": {
        "table": {"description": "id of the uploaded file", "required": True, "schema": {"type": "string"}},
        "language": {"default_value": "English"},
    },
}


def make_agent(client):
    """The newest version is the one that counts."""
    return client.post(f"{PROJECT}/agents/{NAME}/versions?api-version=v1", body={"definition": DEFINITION},
                       cast_to=object)


def ask(client, table, question):
    with open(table, "rb") as data:
        file = client.files.create(file=data, purpose="assistants")
    return client.responses.create(input=question, extra_body={
        "agent_reference": {"type": "agent_reference", "name": NAME},
        "structured_inputs": {"table": file.id},
    })


def citations(response):
    for item in response.output:
        for part in getattr(item, "content", None) or []:
            for annotation in getattr(part, "annotations", None) or []:
                if annotation.type == "container_file_citation":
                    yield annotation


def save(client, citation):
    # The model chose the name: it is for a directory where nothing else is.
    path = pathlib.Path("out") / pathlib.PurePosixPath(citation.filename).name
    path.parent.mkdir(exist_ok=True)
    content = client.containers.files.content.retrieve(citation.file_id, container_id=citation.container_id)
    path.write_bytes(content.read())
    print(f"saved {path}")


def main():
    client = openai.OpenAI(base_url=f"{PROJECT}/openai/v1", api_key=os.environ["CUPOLA_API_KEY"])
    make_agent(client)
    response = ask(client, *sys.argv[1:])
    if response.status != "completed":
        sys.exit(response.error.message if response.error else response.status)
    print(response.output_text)
    for citation in citations(response):
        save(client, citation)


if __name__ == "__main__":
    main()
