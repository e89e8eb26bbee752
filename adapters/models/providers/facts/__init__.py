"""Facts about models, by their names: data, and the look-ups that read it.

bedrock  which models of AWS speak Converse, and what each maker's take there
gemini   effort, thoughts and tools of Gemini, on every interface that it has
mistral  which models are Mistral's, and the ids of calls that they take
openai   which models think, sample and answer where; OpenAI's addresses and schemas
"""
